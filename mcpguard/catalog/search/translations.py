"""Words of other languages for what tools do and are about: data, and nothing else.

Rules kept here:
1. A line is an English word, a colon, and words for it, without marks and in lower case as `words.folded` leaves them.
   Several lines may begin with the same word.
2. They stand in for a word of a query, never of a tool. They cost a word that tools do have nothing.
3. Of scripts without blanks a word is found wherever it stands in a query.
"""

from typing import Final

WEIGHT: Final = 0.8

TABLE: Final = """
    create: erstellen erstelle anlegen erzeugen creer cree creez crear crea creo criar crie creare создать создай
    create: создание 创建 新建 作成 作る 作って 만들기
    add: hinzufugen ajouter ajoute anadir anade agregar agrega adicionar adicione aggiungere aggiungi добавить добавь
    add: 添加 追加
    delete: loschen losche loscht entfernen entferne supprimer supprime effacer efface eliminar elimina borrar borra
    delete: excluir exclua apagar cancellare удалить удали удаление 删除 移除 削除
    list: auflisten liste alle listar lista listado elenco elencare elenca список перечислить 列出 列表 一覧
    show: anzeigen zeige zeigen afficher affiche montrer montre mostrar muestra mostre mostrare mostra показать покажи
    show: 显示 表示 見せて
    get: abrufen holen obtenir obtiens recuperer recupere obtener obten obter obtenha ottenere ottieni получить получи
    get: 获取 取得
    read: lesen lese lire lis leer lee ler leia leggere leggi прочитать прочитай читать 读取 阅读 読む 読み 読んで
    search: suchen suche sucht finden finde rechercher recherche chercher cherche trouver trouve buscar busca
    search: encontrar encuentra procurar pesquisar cercare cerca найти найди поиск искать 搜索 查找 查询 検索 探す
    search: 探して
    update: aktualisieren aktualisiere andern andere bearbeiten mettre modifier modifie actualizar actualiza modificar
    update: modifica editar edita atualizar aggiornare aggiorna обновить обнови изменить измени 更新 修改 変更 編集
    write: schreiben schreibe ecrire ecris escribir escribe escrever escreva scrivere scrivi записать напиши написать
    write: 写入 编写 書く 書き込み
    send: senden sende schicken schicke verschicken envoyer envoie envoyez enviar envia envie inviare invia отправить
    send: отправь послать 发送 送信 送る 送って
    upload: hochladen televerser subir sube carregar caricare carica загрузить 上传 アップロード
    download: herunterladen telecharger descargar descarga baixar scaricare scarica скачать 下载 ダウンロード
    move: verschieben verschiebe deplacer deplace mueve mova spostare sposta переместить 移动 移動
    rename: umbenennen renommer renombrar renomear rinominare переименовать 重命名
    copy: kopieren kopiere copier copie copiar copia copiare скопировать 复制 コピー
    run: ausfuhren fuhre executer ejecutar ejecuta executar eseguire esegui запустить запусти выполнить 运行 执行 実行
    start: starten starte demarrer demarre lancer iniciar inicia avviare avvia начать 启动 開始
    stop: stoppen stoppe beenden arreter arrete detener deten parar fermare остановить 停止
    check: prufen prufe uberprufen verifier verifie verificar verifica comprobar comprueba controllare проверить
    check: проверь 检查 確認
    compare: vergleichen vergleiche comparer comparar confrontare сравнить 比较 比較
    translate: ubersetzen ubersetze uebersetzen traduire traduis traducir traduce traduzir traduza tradurre traduci
    translate: перевести переведи перевод 翻译 翻訳
    summarize: zusammenfassen zusammenfassung resumer resume resumir resumen riassumere riassunto обобщить 总结 摘要
    summarize: 要約
    calculate: berechnen berechne rechnen calculer calcule calcular calcula calcolare calcola вычислить посчитать
    calculate: рассчитать 计算 計算
    convert: umrechnen umwandeln konvertieren convertir convertis convierte converter converta convertire converti
    convert: конвертировать преобразовать 转换 変換
    book: buchen buche reservieren reservar reserva prenotare prenota забронировать бронирование 预订 予約
    buy: kaufen kaufe acheter achete comprar compra acquistare comprare купить 购买 買う 購入
    pay: bezahlen zahlen payer paie pagar paga pagare оплатить 支付 支払い
    schedule: planen termin planifier planifie programar programa agendar pianificare запланировать расписание 安排
    schedule: 日程 予定
    open: offnen offne ouvrir ouvre abrir abre aprire apri открыть открой 打开 開く
    close: schliessen schliesse fermer ferme cerrar cierra fechar chiudere chiudi закрыть закрой 关闭 閉じる
    merge: zusammenfuhren fusionner fusionne fusionar fusiona unire объединить 合并 マージ
    new: neu neue neuen neues neuer nouveau nouvelle nouveaux nuevo nueva novo nuovo nuova новый новую новое новые
    new: 新的 新しい
    latest: neueste neuesten letzte letzten dernier derniere derniers dernieres ultimo ultima ultimos ultimas
    latest: recientes последние последний 最新 最近
    file: datei dateien fichier fichiers archivo archivos fichero ficheros arquivo arquivos файл файла файлы 文件
    file: ファイル 파일
    folder: ordner verzeichnis verzeichnisse dossier dossiers repertoire repertoires carpeta carpetas directorio
    folder: cartella cartelle папка папку каталог 文件夹 目录 フォルダ
    message: nachricht nachrichten mensaje mensajes mensagem mensagens messaggio messaggi сообщение сообщения 消息
    message: 信息 メッセージ
    email: mail courriel courriels correo correos 邮件 电子邮件 メール письмо письма почта
    calendar: kalender calendrier calendario календарь 日历 カレンダー
    event: termin termine veranstaltung ereignis evenement evenements evento eventos eventi событие события встреча
    event: 事件 活动 イベント
    meeting: besprechung treffen sitzung reunion reunions riunione совещание встречу 会议 会議
    user: benutzer nutzer utilisateur utilisateurs usuario usuarios utente utenti пользователь пользователя
    user: пользователей 用户 ユーザー
    contact: kontakt kontakte contacto contactos contatto contatti контакт контакты 联系人 連絡先
    customer: kunde kunden cliente clientes clienti клиент клиента клиентов 客户 顧客
    issue: fehler probleme incidencia problema задача задачу 问题 課題
    task: aufgabe aufgaben tache taches tarea tareas tarefa tarefas compito attivita задача задачи задачу 任务 タスク
    comment: kommentar kommentare kommentieren commentaire commentaires comentario comentarios commento commenti
    comment: комментарий 评论 コメント
    repository: repositorium repositorio repositorios репозиторий 仓库 代码库 リポジトリ
    branch: zweig branche branches rama ramas ветка ветку 分支 ブランチ
    code: quelltext codigo codice код 代码 コード
    database: datenbank datenbanken donnees datos banco dados база данных базы 数据库 データベース
    table: tabelle tabellen tables tabla tablas tabela tabelas tabella таблица таблицу таблицы 表格 テーブル
    query: abfrage abfragen requete requetes consulta consultas interrogazione запрос запросы 查询 クエリ
    page: seite seiten pagina paginas страница страницу 页面 网页 ページ
    website: webseite internetseite sitio сайт 网站 サイト
    image: bild bilder foto fotos photo imagen imagenes imagem immagine immagini картинка изображение изображения 图片
    image: 图像 画像 写真
    video: видео 视频 動画 ビデオ
    music: musik lied lieder musique chanson chansons musica cancion canciones musiche canzone музыка песня песню 音乐
    music: 歌曲 音楽 曲
    weather: wetter wetterbericht meteo tiempo clima погода погоду 天气 天気
    forecast: vorhersage wettervorhersage previsions prevision pronostico prognose прогноз 预报 予報
    map: karte karten carte cartes mapa mapas mappa карта карту 地图 地図
    route: strecke weg itineraire ruta rutas rota percorso маршрут 路线 経路 ルート
    place: ort orte lieu lieux lugar lugares luogo место 地点 場所
    city: stadt stadte ville villes ciudad ciudades cidade citta город города 城市 都市
    country: lander pays pais paises paese страна страны 国家 国
    flight: flug fluge flugverbindung vols vuelo vuelos voo voos volo voli рейс рейсы 航班 フライト
    hotel: hoteles unterkunft отель отели 酒店 ホテル
    train: zug zuge zugverbindung tren trenes trem treno поезд 火车 列车 電車 列車
    restaurant: restaurante restaurantes ristorante ресторан 餐厅 レストラン
    recipe: rezept rezepte recette recettes receta recetas receita ricetta рецепт рецепты 食谱 菜谱 レシピ
    order: bestellung bestellungen commande commandes pedido pedidos ordine заказ заказы 订单 注文
    product: produkt produkte produit produits producto productos prodotto товар товары 产品 商品 製品
    price: preis preise prix precio precios preco prezzo цена цену цены 价格 価格 値段
    invoice: rechnung rechnungen facture factures factura facturas fatura fattura счет счёт 发票 請求書
    payment: zahlung zahlungen paiement paiements pago pagos pagamento платеж 付款 支払
    refund: ruckerstattung erstattung remboursement rembourser reembolso reembolsar rimborso возврат 退款 返金
    stock: aktie aktien aktienkurs bourse accion acciones акции 股票 株価
    currency: wahrung wahrungen devise devises moneda divisa moeda valuta валюта валюту 货币 通貨
    money: geld argent dinero dinheiro denaro деньги 钱
    account: konto konten compte comptes cuenta cuentas conta аккаунт 账户 帐户 アカウント
    password: passwort kennwort contrasena senha пароль 密码 パスワード
    document: dokument dokumente documento documentos documenti документ документы 文档 文書 ドキュメント
    spreadsheet: tabellenkalkulation kalkulationstabelle tableur 电子表格 スプレッドシート
    text: texte texto testo текст 文本 テキスト
    note: notiz notizen nota notas заметка заметку заметки 笔记 备忘 ノート メモ
    news: nachrichten neuigkeiten actualites nouvelles noticias notizie новости 新闻 ニュース
    article: artikel articulo articulos artigo articolo статья статьи 文章 記事
    book: buch bucher livre livres libro libros livro livros libri книга книги 书 本
    translation: ubersetzung traduction traduccion traducao traduzione перевод 翻译
    language: sprache sprachen langue langues idioma idiomas lingua язык 语言 言語
    time: zeit uhrzeit heure heures hora horas время 时间 時間 時刻
    timezone: zeitzone
    date: datum fecha дата дату 日期 日付
    today: heute hoy hoje oggi сегодня 今天 今日
    tomorrow: morgen demain manana amanha domani завтра 明天 明日
    number: nummer zahl zahlen numero numeros число номер 号码 番号
    link: verknupfung lien liens enlace enlaces collegamento ссылка ссылку 链接 リンク
    server: serveur servidor serveurs servidores сервер 服务器 サーバー
    container: contenedor conteneur контейнер 容器 コンテナ
    log: protokoll protokolle journaux registro registros лог логи 日志 ログ
    error: fehler erreur erreurs errores erro errore ошибка ошибки 错误 エラー
    test: prueba pruebas teste тест 测试 テスト
    deploy: bereitstellen deployer deploie deployez desplegar despliega implantar развернуть 部署 デプロイ
    project: projekt projekte projet projets proyecto proyectos projeto progetto проект проекты 项目 プロジェクト
    team: mannschaft equipe equipes equipo equipos squadra команда 团队 チーム
    channel: kanal kanale canal canaux canales canale канал 频道 チャンネル
    reminder: erinnerung erinnerungen rappel rappels recordatorio promemoria напоминание 提醒 リマインダー
    device: gerat gerate appareil appareils dispositivo dispositivos устройство 设备 デバイス
    light: licht lichter lampe lampen lumiere lumieres luz luces luce свет лампа 灯 照明 ライト
    temperature: temperatur temperatura температура 温度 気温
    phone: telefon telefono telefone телефон 电话 電話
    address: adresse adressen adresses direccion endereco indirizzo адрес 地址 住所
    job: stelle stellen emploi emplois trabajo empleo lavoro работа вакансия 工作 职位 仕事 求人
    company: firma firmen unternehmen entreprise entreprises empresa empresas azienda компания компании 公司 会社
    report: bericht berichte rapport rapports informe informes relatorio отчет отчёт 报告 レポート
    chart: diagramm diagramme graphique grafico graficos график диаграмма 图表 グラフ
    screenshot: bildschirmfoto captura снимок скриншот 截图 スクリーンショット
    package: paket pakete sendung colis paquet paquete paquetes pacchetto посылка 包裹 荷物
    status: zustand etat estado stato статус 状态 状態
    version: versionen versiones versao версия 版本 バージョン
    all: alle allen tous toutes todos todas tutti все 所有 全部 すべて
"""
